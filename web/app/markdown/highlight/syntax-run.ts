/** Syntax class of a piece of code. */
export type SyntaxKind = 'comment' | 'keyword' | 'string' | 'number' | 'name' | 'type' | 'attribute' | 'meta' | 'added' | 'removed';

/** A run of characters of one class; its length is in UTF-16 units. Null: plain text. */
export interface SyntaxRun {
  length: number;
  kind: SyntaxKind | null;
}

export interface HighlightRequest {
  code: string;
  language: string;
}
