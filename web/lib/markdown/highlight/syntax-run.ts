/** Syntax class of a piece of code. */
export type SyntaxKind = 'comment' | 'keyword' | 'string' | 'number' | 'name' | 'type' | 'attribute' | 'meta' | 'added' | 'removed';

/** So many characters (UTF-16 units) of one look; `null`: plain. */
export interface SyntaxRun {
  length: number;
  kind: SyntaxKind | null;
}

export interface HighlightRequest {
  code: string;
  language: string;
}
