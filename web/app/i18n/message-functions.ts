import { getDirection, type Locale } from './locale.ts';

/** The messages of a part by key, each a function of its placeholders. */
export type MessageFunctions<Compiled> = {
  readonly [Key in keyof Compiled]: Compiled[Key] extends (inputs: infer Inputs) => unknown ? Message<Inputs> : never;
};

type Message<Inputs> = keyof Inputs extends never
  ? () => string
  : (inputs: { readonly [Place in keyof Inputs]: string | number }) => string;
type MessageInputs = Readonly<Record<string, string | number>>;

/** The compiler's declarations require an argument even for messages without placeholders. */
export const toMessageFunctions = <Compiled extends object>(compiled: Compiled): MessageFunctions<Compiled> =>
  compiled as unknown as MessageFunctions<Compiled>;

/** Isolates a name, so that it keeps its own direction within a sentence. */
export const isolate = (name: string): string => `\u2068${name}\u2069`;

/**
 * Isolates placeholders for right-to-left languages: a name or a path within a sentence keeps its own direction without moving punctuation.
 * Numbers are not isolated, since a percent sign after them belongs to them.
 */
export function isolatePlaceholders<Compiled extends object>(compiled: Compiled): MessageFunctions<Compiled> {
  const isolateValue = (value: string | number): string | number =>
    typeof value === 'string' && /[^\d.,:\s]/.test(value) ? isolate(value) : value;
  const withIsolatedInputs =
    (getMessage: (inputs: MessageInputs) => string) =>
    (inputs: MessageInputs = {}): string =>
      getMessage(Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, isolateValue(value)])));
  return toMessageFunctions(
    Object.fromEntries(Object.entries(compiled).map(([key, getMessage]) => [key, withIsolatedInputs(getMessage)])) as Compiled,
  );
}

/** Loaders of a part's messages in languages other than English. */
export type LocaleLoaders<Compiled> = Readonly<Record<Exclude<Locale, 'en'>, () => Promise<{ default: Compiled }>>>;

/** Loads a part's messages in another language. Rejects if they cannot be fetched. */
export async function loadLocaleMessages<Compiled extends object>(
  locale: Exclude<Locale, 'en'>,
  loaders: LocaleLoaders<Compiled>,
): Promise<MessageFunctions<Compiled>> {
  const { default: compiled } = await loaders[locale]();
  return getDirection(locale) === 'rtl' ? isolatePlaceholders(compiled) : toMessageFunctions(compiled);
}
