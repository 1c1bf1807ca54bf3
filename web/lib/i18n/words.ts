import { directionOf, type Locale } from './locale.ts';

/** The messages of a part by key, each a function of its placeholders. */
export type WordsOf<Compiled> = {
  readonly [Key in keyof Compiled]: Compiled[Key] extends (inputs: infer Inputs) => unknown ? Message<Inputs> : never;
};

type Message<Inputs> = keyof Inputs extends never
  ? () => string
  : (inputs: { readonly [Place in keyof Inputs]: string | number }) => string;
type Inputs = Readonly<Record<string, string | number>>;

/** The compiler's declarations require an argument even for messages without placeholders. */
export const words = <Compiled extends object>(compiled: Compiled): WordsOf<Compiled> => compiled as unknown as WordsOf<Compiled>;

/** Keeps its own direction within a sentence of the other. */
export const apart = (name: string): string => `\u2068${name}\u2069`;

/**
 * Isolates placeholders for right-to-left languages: a name or a path within a sentence keeps its own direction without moving punctuation.
 * Numbers are not isolated, since a percent sign after them belongs to them.
 */
export function isolating<Compiled extends object>(compiled: Compiled): WordsOf<Compiled> {
  const placed = (value: string | number): string | number =>
    typeof value === 'string' && /[^\d.,:\s]/.test(value) ? apart(value) : value;
  const keepingApart =
    (say: (inputs: Inputs) => string) =>
    (inputs: Inputs = {}): string =>
      say(Object.fromEntries(Object.entries(inputs).map(([place, value]) => [place, placed(value)])));
  return words(Object.fromEntries(Object.entries(compiled).map(([key, say]) => [key, keepingApart(say)])) as Compiled);
}

/** Loaders of a part's messages in languages other than English. */
export type Others<Compiled> = Readonly<Record<Exclude<Locale, 'en'>, () => Promise<{ default: Compiled }>>>;

/** A part's messages as one of the other languages says them. Rejects where they cannot be fetched. */
export async function spoken<Compiled extends object>(locale: Exclude<Locale, 'en'>, others: Others<Compiled>): Promise<WordsOf<Compiled>> {
  const { default: said } = await others[locale]();
  return directionOf(locale) === 'rtl' ? isolating(said) : words(said);
}
