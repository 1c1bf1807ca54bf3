type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Creates a minimal value for a JSON Schema: required properties, with the first listed value or an empty one. */
export function createExample(schema: unknown): unknown {
  if (!isObject(schema)) return null;
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return createExample(choices[0]);
  switch (schema['type']) {
    case 'object':
      return createObjectExample(schema);
    case 'array':
      if (Array.isArray(schema['prefixItems'])) return schema['prefixItems'].map(createExample);
      return Array.from({ length: Math.min(10, createNumberExample(schema['minItems'])) }, () => createExample(schema['items']));
    case 'string':
      return createTextExample(schema);
    case 'number':
    case 'integer':
      return Math.max(0, createNumberExample(schema['minimum']), createNumberExample(schema['exclusiveMinimum'], -1) + 1);
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function createObjectExample({ properties, required }: Json): Json {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const schemas = isObject(properties) ? properties : {};
  return Object.fromEntries(names.map((name) => [name, createExample(Object.hasOwn(schemas, name) ? schemas[name] : undefined)]));
}

const createNumberExample = (value: unknown, fallback = 0): number => (typeof value === 'number' ? value : fallback);

/** Example of a text; `main` if the pattern allows it, which is the id of the default agent. */
function createTextExample({ format, pattern, minLength }: Json): string {
  if (format === 'uri') return 'https://example.com';
  if (typeof pattern === 'string') return new RegExp(pattern).test('main') ? 'main' : '';
  const minChars = createNumberExample(minLength);
  return minChars > 0 ? 'text'.padEnd(Math.min(minChars, 100), '.') : '';
}
