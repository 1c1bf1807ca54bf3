import { toSource } from '../trust/content-sources.ts';
import { isObject } from '#shared/merge-patch.ts';

/** Replaces a deleted text where a text must stand. */
export const FORGOTTEN_TEXT = '[forgotten]';

/** Replaces a source of outside content, so that what has it stays untrusted. */
const FORGOTTEN_SOURCE = toSource('unknown', 'forgotten');
/** Members that list the outside sources of a record. */
const SOURCE_MEMBERS: ReadonlySet<string> = new Set(['outside', 'readOutside', 'sources']);

type Test = (text: string) => boolean;

/** Whether a text anywhere in a value, or a name of a member, matches. */
export function containsText(value: unknown, matches: Test): boolean {
  if (typeof value === 'string') return matches(value);
  if (Array.isArray(value)) return value.some((each) => containsText(each, matches));
  return isObject(value) && Object.entries(value).some(([name, each]) => matches(name) || containsText(each, matches));
}

/**
 * A copy of a value without matching texts: matching elements of lists and members with matching names are left out, and other matching
 * texts are replaced, as are outside sources. Members named in `keep` stay as they are. Returns the same value if nothing matches.
 */
export function eraseTexts<T>(value: T, matches: Test, keep: ReadonlySet<string> = new Set()): T {
  if (!containsText(value, matches)) return value;
  return erase(value, matches, keep) as T;
}

function erase(value: unknown, matches: Test, keep: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return matches(value) ? FORGOTTEN_TEXT : value;
  if (Array.isArray(value))
    return value.flatMap((each: unknown) => (typeof each === 'string' && matches(each) ? [] : [erase(each, matches, keep)]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) =>
      matches(name)
        ? []
        : [[name, keep.has(name) ? each : SOURCE_MEMBERS.has(name) ? eraseSources(each, matches) : erase(each, matches, keep)] as const],
    ),
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
