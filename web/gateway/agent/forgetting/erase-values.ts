import { toSource } from '../trust/content-sources.ts';
import { FORGOTTEN_TEXT } from '#shared/forgotten-text.ts';
import { isObject } from '#shared/merge-patch.ts';

/** Replaces a source of outside content, so that what has it stays untrusted. */
const FORGOTTEN_SOURCE = toSource('unknown', 'forgotten');
/** Members that list the outside sources of a record. */
const SOURCE_MEMBERS: ReadonlySet<string> = new Set(['outside', 'readOutside', 'sources']);

type Test = (text: string) => boolean;

/** Members that identify a record, refer to others or name a choice. They are neither compared nor changed. */
const STRUCTURE: ReadonlySet<string> = new Set(
  `id key sessionKey session_key parentId runId role toolCallId agentId sessionId headId userMessageId messageId hash content_hash contentHash blobs name
  kind model provider status state store type mimeType encoding event phase by trigger category path page_path source_path source source_ref
  sourceRef workspace tool modelName method principal executor replica origin clock at created_at updated_at createdAt updatedAt day date`.split(
    /\s+/,
  ),
);

/** Whether a text anywhere in a value matches, except in members such as ids. */
export function containsText(value: unknown, matches: Test): boolean {
  if (typeof value === 'string') return matches(value);
  if (Array.isArray(value)) return value.some((each) => containsText(each, matches));
  return isObject(value) && Object.entries(value).some(([name, each]) => !STRUCTURE.has(name) && containsText(each, matches));
}

/**
 * A copy of a value without matching texts: matching elements of lists are left out, and other matching texts are replaced, as are outside
 * sources. Returns the same value if nothing matches.
 */
export function eraseTexts<T>(value: T, matches: Test): T {
  if (!containsText(value, matches)) return value;
  return erase(value, matches) as T;
}

function erase(value: unknown, matches: Test): unknown {
  if (typeof value === 'string') return matches(value) ? FORGOTTEN_TEXT : value;
  if (Array.isArray(value))
    return value.flatMap((each: unknown) => (typeof each === 'string' && matches(each) ? [] : [erase(each, matches)]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      STRUCTURE.has(name) ? each : SOURCE_MEMBERS.has(name) ? eraseSources(each, matches) : erase(each, matches),
    ]),
  );
}

const eraseSources = (sources: unknown, matches: Test): unknown =>
  Array.isArray(sources) ? [...new Set(sources.map((each: unknown) => (containsText(each, matches) ? FORGOTTEN_SOURCE : each)))] : sources;

/** A text without its matching lines. */
export const eraseLines = (text: string, matches: Test): string =>
  text
    .split(/(?<=\n)/)
    .filter((line) => !matches(line))
    .join('');
