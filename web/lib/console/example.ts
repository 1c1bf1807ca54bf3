type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The least that a JSON Schema asks for: what must be there, with the value that is named first or an empty one. */
export function exampleOf(schema: unknown): unknown {
  if (!isObject(schema)) return null;
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return exampleOf(choices[0]);
  switch (schema['type']) {
    case 'object':
      return objectOf(schema);
    case 'array':
      if (Array.isArray(schema['prefixItems'])) return schema['prefixItems'].map(exampleOf);
      return Array.from({ length: Math.min(10, numberOf(schema['minItems'])) }, () => exampleOf(schema['items']));
    case 'string':
      return textOf(schema);
    case 'number':
    case 'integer':
      return Math.max(0, numberOf(schema['minimum']), numberOf(schema['exclusiveMinimum'], -1) + 1);
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function objectOf({ properties, required }: Json): Json {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const known = isObject(properties) ? properties : {};
  return Object.fromEntries(names.map((name) => [name, exampleOf(Object.hasOwn(known, name) ? known[name] : undefined)]));
}

const numberOf = (value: unknown, other = 0): number => (typeof value === 'number' ? value : other);

/** The default id is `main`, where it exists at first. */
function textOf({ format, pattern, minLength }: Json): string {
  if (format === 'uri') return 'https://example.com';
  if (typeof pattern === 'string') return new RegExp(pattern).test('main') ? 'main' : '';
  const least = numberOf(minLength);
  return least > 0 ? 'text'.padEnd(Math.min(least, 100), '.') : '';
}
