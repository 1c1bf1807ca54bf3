import { directionOf, type Locale } from './locale.ts';

/** A part's messages by their keys, each a function of what its sentence has places for. */
export type WordsOf<Compiled> = {
  readonly [Key in keyof Compiled]: Compiled[Key] extends (inputs: infer Inputs) => unknown ? Message<Inputs> : never;
};

type Message<Inputs> = keyof Inputs extends never
  ? () => string
  : (inputs: { readonly [Place in keyof Inputs]: string | number }) => string;
type Inputs = Readonly<Record<string, string | number>>;

/** The compiler's declarations want an argument where there is no place for anything. */
export const words = <Compiled extends object>(compiled: Compiled): WordsOf<Compiled> => compiled as unknown as WordsOf<Compiled>;

/** Keeps its own direction within a sentence of the other. */
export const apart = (name: string): string => `\u2068${name}\u2069`;

/**
 * The same for a language from right to left: a name or a path within a sentence keeps its own direction, and moves no comma of the
 * sentence. A number stays as it is: the percent sign behind it belongs to it.
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
