type JsonSchema = Record<string, unknown>;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
const toSchemas = (value: unknown): JsonSchema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

const MAX_LINE_CHARS = 100;

/** The documentation of a schema's fields, to be written as comments above them. */
export interface FieldDocs {
  readonly text?: string | undefined;
  field(name: string): FieldDocs | undefined;
}

/** Formats a JSON Schema as a TypeScript-like type, for a line indented by `indent`. Unknown schemas become `any`. */
export function formatType(schema: JsonSchema, indent: string, docs?: FieldDocs): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = [...toSchemas(schema.anyOf), ...toSchemas(schema.oneOf)];
  if (choices.length > 0) return [...new Set(choices.map((choice) => formatType(choice, indent, docs)))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type: unknown) => formatType({ ...schema, type }, indent, docs)).join(' | ');
  switch (schema.type) {
    case 'object':
      return formatObjectType(schema, indent, docs);
    case 'array': {
      const items = isSchema(schema.items) ? schema.items : {};
      const item = formatType(items, indent, docs);
      const isUnion = 'anyOf' in items || 'oneOf' in items || 'enum' in items || Array.isArray(items.type);
      return isUnion ? `(${item})[]` : `${item}[]`;
    }
    case 'string':
      return `string${typeof schema.format === 'string' ? ` (${schema.format})` : ''}`;
    case 'integer':
    case 'number':
      return `${schema.type}${formatRange(schema)}`;
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'any';
  }
}

function formatObjectType(schema: JsonSchema, indent: string, docs?: FieldDocs): string {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const inner = `${indent}  `;
  const members = Object.entries(properties).flatMap(([name, value]) => {
    if (!isSchema(value)) return [];
    const defaultText = 'default' in value && !isSchema(value.default) ? ` = ${JSON.stringify(value.default)}` : '';
    const field = docs?.field(name);
    const comment = field?.text === undefined ? '' : `// ${field.text}\n${inner}`;
    return `${comment}${name}${required.includes(name) ? '' : '?'}: ${formatType(value, inner, field)}${defaultText}`;
  });
  if (isSchema(schema.additionalProperties) && Object.keys(properties).length === 0)
    members.push(`[name: string]: ${formatType(schema.additionalProperties, inner, docs)}`);
  if (members.length === 0) return '{}';
  const line = `{ ${members.join(', ')} }`;
  if (!line.includes('\n') && indent.length + line.length <= MAX_LINE_CHARS) return line;
  return `{\n${members.map((member) => `${inner}${member}`).join(',\n')}\n${indent}}`;
}

/** Zod adds the safe-integer bounds to every integer; they are omitted. */
function formatRange({ minimum, maximum }: JsonSchema): string {
  const min = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  const max = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  if (min !== undefined && max !== undefined) return ` ${min}–${max}`;
  return min === undefined ? (max === undefined ? '' : ` ≤ ${max}`) : ` ≥ ${min}`;
}
