import { isObject } from '#shared/merge-patch.ts';

type Schema = Record<string, unknown>;

/** Keywords with limits that models rarely exceed. A call that does gets an error. */
const LIMIT_KEYWORDS = new Set(['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'minimum', 'additionalProperties', '$schema']);
/** A `maximum` up to this value is useful to a model. */
const MAX_USEFUL_MAXIMUM = 10_000;

/** The JSON Schema of a tool as sent to models: without limits and defaults, which cost tokens in every request and change no call. */
export function toModelSchema(schema: Schema): Schema {
  const short: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (LIMIT_KEYWORDS.has(key) || isEmptyDefault(key, value) || (key === 'maximum' && Number(value) > MAX_USEFUL_MAXIMUM)) continue;
    short[key] = key === 'properties' && isObject(value) ? mapValues(value) : toShort(value);
  }
  return short;
}

/** Parameters may be named like keywords. */
const mapValues = (properties: Schema): Schema =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, toShort(value)]));

const toShort = (value: unknown): unknown => (Array.isArray(value) ? value.map(toShort) : isObject(value) ? toModelSchema(value) : value);

const isEmptyDefault = (key: string, value: unknown): boolean =>
  key === 'default' && (value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0));
