/** Syntax class of a piece of code. */
export type Kind = 'comment' | 'keyword' | 'string' | 'number' | 'name' | 'type' | 'attribute' | 'meta' | 'added' | 'removed';

/** So many characters (UTF-16 units) of one look; `null`: plain. */
export interface Run {
  length: number;
  kind: Kind | null;
}

export interface Asked {
  code: string;
  language: string;
}
