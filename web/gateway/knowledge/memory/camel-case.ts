const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Converts all member names from snake_case to camelCase, at every depth: `max_tokens` becomes `maxTokens`. */
export function toCamelCaseKeys(input: unknown): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [toCamelCase(name), toCamelCaseKeys(value)]));
}
