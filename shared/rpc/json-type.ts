type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
const schemasOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

const LINE = 100;

/** The documentation of a schema's fields, to be written as comments above them. */
export interface FieldDocs {
  readonly text?: string | undefined;
  field(name: string): FieldDocs | undefined;
}

/** Formats a JSON Schema as a TypeScript-like type, for a line indented by `indent`. Unknown schemas become `any`. */
export function toTypeText(schema: Schema, indent: string, docs?: FieldDocs): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = [...schemasOf(schema.anyOf), ...schemasOf(schema.oneOf)];
  if (choices.length > 0) return [...new Set(choices.map((choice) => toTypeText(choice, indent, docs)))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type: unknown) => toTypeText({ ...schema, type }, indent, docs)).join(' | ');
  switch (schema.type) {
    case 'object':
      return objectText(schema, indent, docs);
    case 'array': {
      const items = isSchema(schema.items) ? schema.items : {};
      const item = toTypeText(items, indent, docs);
      const isUnion = 'anyOf' in items || 'oneOf' in items || 'enum' in items || Array.isArray(items.type);
      return isUnion ? `(${item})[]` : `${item}[]`;
    }
    case 'string':
      return `string${typeof schema.format === 'string' ? ` (${schema.format})` : ''}`;
    case 'integer':
    case 'number':
      return `${schema.type}${range(schema)}`;
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'any';
  }
}

function objectText(schema: Schema, indent: string, docs?: FieldDocs): string {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const inner = `${indent}  `;
  const members = Object.entries(properties).flatMap(([name, value]) => {
    if (!isSchema(value)) return [];
    const rest = 'default' in value && !isSchema(value.default) ? ` = ${JSON.stringify(value.default)}` : '';
    const field = docs?.field(name);
    const comment = field?.text === undefined ? '' : `// ${field.text}\n${inner}`;
    return `${comment}${name}${required.includes(name) ? '' : '?'}: ${toTypeText(value, inner, field)}${rest}`;
  });
  if (isSchema(schema.additionalProperties) && Object.keys(properties).length === 0)
    members.push(`[name: string]: ${toTypeText(schema.additionalProperties, inner, docs)}`);
  if (members.length === 0) return '{}';
  const line = `{ ${members.join(', ')} }`;
  if (!line.includes('\n') && indent.length + line.length <= LINE) return line;
  return `{\n${members.map((member) => `${inner}${member}`).join(',\n')}\n${indent}}`;
}

/** Zod adds the safe-integer bounds to every integer; they are omitted. */
function range({ minimum, maximum }: Schema): string {
  const least = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  const most = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  if (least !== undefined && most !== undefined) return ` ${least}–${most}`;
  return least === undefined ? (most === undefined ? '' : ` ≤ ${most}`) : ` ≥ ${least}`;
}
