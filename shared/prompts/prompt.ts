/** A text that a person keeps to send again. */
export interface Prompt {
  /** Command after the slash, and name of its file. */
  name: string;
  title: string;
  description: string;
  /** With `{{variables}}`. */
  text: string;
}

export const PROMPT_LIMITS = { name: 64, title: 200, description: 500, text: 100_000, count: 1000 } as const;

const NAME_PATTERN = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]*$/u;

export const isPromptName = (name: string): boolean => name.length <= PROMPT_LIMITS.name && NAME_PATTERN.test(name);
