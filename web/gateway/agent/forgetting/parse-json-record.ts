import { isObject } from '#shared/merge-patch.ts';

/** Parses a JSON object; undefined if the text is none. */
export function parseJsonRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
