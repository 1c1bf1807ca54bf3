import { parseDocument } from 'yaml';
import type { z } from '#shared/rpc/zod.ts';
import { formatZodError } from './format-zod-error.ts';
import { toCamelCaseKeys } from './camel-case.ts';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a library's settings in camelCase or snake_case. Throws an Error that names the invalid setting. */
export function parseSettings<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const read = schema.safeParse(toCamelCaseKeys(input));
  if (!read.success) throw new Error(formatZodError(read.error));
  return read.data;
}

/** Parses the settings in a YAML document, at the top level or under `section`. Throws an Error that names the line. */
export function parseYamlSettings(text: string, section: string): Record<string, unknown> {
  const document = parseDocument(text, { schema: 'core', prettyErrors: true, logLevel: 'silent' });
  const [error] = document.errors;
  if (error) throw new Error(`The settings are not valid YAML: ${error.message.split('\n', 1)[0]?.replace(/:$/, '') ?? ''}`);
  // Disallows aliases, which could expand to far more than the document's size.
  const parsed: unknown = document.toJS({ maxAliasCount: 0 });
  if (parsed === null) return {};
  if (!isObject(parsed)) throw new Error('The settings must be a map of names to values.');
  return isObject(parsed[section]) ? parsed[section] : parsed;
}
