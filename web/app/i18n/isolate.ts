import type { AreaMessages } from './message-areas.ts';

/** Isolates a name, so that it keeps its own direction within a sentence. */
export const isolate = (name: string): string => `\u2068${name}\u2069`;

const isolateValue = (value: string | number): string | number =>
  typeof value === 'string' && /[^\d.,:\s]/.test(value) ? isolate(value) : value;

/**
 * Isolates placeholders for right-to-left languages: a name or a path within a sentence keeps its own direction without moving punctuation.
 * Numbers are not isolated, since a percent sign after them belongs to them.
 */
export const isolatePlaceholders = (messages: AreaMessages): AreaMessages =>
  messages.map(
    (getMessage) =>
      (inputs = {}) =>
        getMessage(Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, isolateValue(value)]))),
  );
