import { RpcError } from '#shared/rpc/rpc-error.ts';

type Schema = Record<string, unknown>;

/** Schema of any value, in terms that the runtime can convert to a grammar. */
const ANY_SCHEMA: Schema = {
  oneOf: [{ type: ['string', 'number', 'boolean', 'null'] }, { type: 'object', additionalProperties: true }, { type: 'array' }],
};
/** Keywords that the runtime supports directly. */
const SUPPORTED_KEYWORDS = new Set([
  'type',
  'description',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'format',
]);
const SUPPORTED_FORMATS = new Set(['date', 'time', 'date-time']);
/** Keywords that do not restrict values. */
const ANNOTATION_KEYWORDS = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$schema',
  '$id',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
  'required',
]);

/**
 * Converts a JSON Schema to the subset that node-llama-cpp supports for grammars, rewriting anything that it would misinterpret. All
 * properties of an object are generated, including optional ones. Unsupported constraints are rejected with INVALID_PARAMS if `strict`,
 * otherwise dropped.
 */
export function toGrammarSchema(schema: Schema, strict: boolean): Schema {
  const refuse = (keyword: string): Schema => {
    if (!strict) return ANY_SCHEMA;
    throw new RpcError('INVALID_PARAMS', `The JSON Schema uses "${keyword}", which local models don’t support`, {
      details: { field: 'responseFormat' },
    });
  };

  const convert = (node: unknown): Schema => {
    if (node === true) return ANY_SCHEMA;
    if (!isSchema(node)) return refuse(JSON.stringify(node) ?? 'undefined');
    const definitions = { ...getObject(node, 'definitions'), ...getObject(node, '$defs') };
    const own = convertNode(node);
    if (Object.keys(definitions).length === 0) return own;
    return { ...own, $defs: convertAll(definitions) };
  };
  const convertAll = (nodes: Schema): Schema => Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, convert(node)]));

  const convertNode = (node: Schema): Schema => {
    if (typeof node['$ref'] === 'string') {
      const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(node['$ref'])?.[1];
      return name === undefined ? refuse('$ref') : { $ref: `#/$defs/${name}` };
    }
    const choices = node['oneOf'] ?? node['anyOf'];
    if (choices !== undefined) return Array.isArray(choices) && choices.length > 0 ? { oneOf: choices.map(convert) } : refuse('oneOf');
    const all = node['allOf'];
    if (all !== undefined) return Array.isArray(all) && all.length === 1 ? convert(all[0]) : refuse('allOf');
    if ('const' in node) return literal(node['const']);
    if ('enum' in node)
      return Array.isArray(node['enum']) && node['enum'].length > 0 ? { oneOf: node['enum'].map(literal) } : refuse('enum');
    const typed = getType(node);
    return typed === undefined ? ANY_SCHEMA : convertTyped(node, typed);
  };

  const literal = (value: unknown): Schema => {
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return { const: value };
    return refuse('const');
  };

  const convertTyped = (node: Schema, type: unknown): Schema => {
    // Objects and arrays among several types become separate schemas, for their members.
    if (Array.isArray(type) && type.some((each) => each === 'object' || each === 'array'))
      return { oneOf: type.map((each: unknown) => convertTyped(node, each)) };
    const converted: Schema = { type };
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && isSchema(value)) converted['properties'] = convertAll(value);
      else if (key === 'additionalProperties') converted[key] = typeof value === 'boolean' ? value : convert(value);
      else if (key === 'items' && value !== false) converted[key] = convert(value);
      else if (key === 'prefixItems' && Array.isArray(value)) converted[key] = value.map(convert);
      else if (key === 'format' && !SUPPORTED_FORMATS.has(String(value))) refuse(`format: ${String(value)}`);
      else if (SUPPORTED_KEYWORDS.has(key)) converted[key] ??= value;
      else if (!ANNOTATION_KEYWORDS.has(key) && key !== '$defs' && key !== 'definitions') refuse(key);
    }
    // By default an object may have any property; here it would have none.
    if (type === 'object' && !('properties' in node) && !('additionalProperties' in node)) converted['additionalProperties'] = true;
    return converted;
  };

  const getType = (node: Schema): unknown => {
    const { type } = node;
    if (type === undefined) return 'properties' in node ? 'object' : 'items' in node || 'prefixItems' in node ? 'array' : undefined;
    const types = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'];
    if ([type].flat().every((each) => types.includes(String(each)))) return type;
    refuse('type');
    return undefined;
  };

  return convert(schema);
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

function getObject(node: Schema, key: string): Schema {
  const value = node[key];
  return isSchema(value) ? value : {};
}
