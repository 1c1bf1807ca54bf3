/** A part's messages by their keys, each a function of what its sentence has places for. */
export type WordsOf<Compiled> = {
  readonly [Key in keyof Compiled]: Compiled[Key] extends (inputs: infer Inputs) => unknown ? Message<Inputs> : never;
};

type Message<Inputs> = keyof Inputs extends never
  ? () => string
  : (inputs: { readonly [Place in keyof Inputs]: string | number }) => string;

/** The compiler's declarations want an argument where there is no place for anything. */
export const words = <Compiled extends object>(compiled: Compiled): WordsOf<Compiled> => compiled as unknown as WordsOf<Compiled>;
