import hljs from 'highlight.js/lib/common';
import clojure from 'highlight.js/lib/languages/clojure';
import dart from 'highlight.js/lib/languages/dart';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import elixir from 'highlight.js/lib/languages/elixir';
import haskell from 'highlight.js/lib/languages/haskell';
import http from 'highlight.js/lib/languages/http';
import julia from 'highlight.js/lib/languages/julia';
import latex from 'highlight.js/lib/languages/latex';
import nginx from 'highlight.js/lib/languages/nginx';
import powershell from 'highlight.js/lib/languages/powershell';
import protobuf from 'highlight.js/lib/languages/protobuf';
import scala from 'highlight.js/lib/languages/scala';
import type { SyntaxKind, SyntaxRun } from './syntax-run.ts';

const extraLanguages = { clojure, dart, dockerfile, elixir, haskell, http, julia, latex, nginx, powershell, protobuf, scala };
for (const [name, grammar] of Object.entries(extraLanguages)) hljs.registerLanguage(name, grammar);

/** Maps scopes of highlight.js (its documentation, "Scopes Reference") to our kinds. Other scopes inherit the kind around them. */
const KIND_BY_SCOPE = new Map<string, SyntaxKind>(
  Object.entries({
    comment: 'comment quote',
    keyword: 'keyword built_in selector-tag doctag template-tag',
    string: 'string regexp symbol char link code template-variable',
    number: 'number literal bullet',
    name: 'title function section name',
    type: 'type class',
    attribute: 'attr attribute variable property params selector-class selector-id selector-attr selector-pseudo',
    meta: 'meta punctuation operator',
    added: 'addition',
    removed: 'deletion',
  } satisfies Record<SyntaxKind, string>).flatMap(([kind, scopes]) => scopes.split(' ').map((scope) => [scope, kind as SyntaxKind])),
);

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };

/** Splits code into runs of one syntax class, whose lengths add up to that of the code; null for an unknown language. */
export function computeRuns(code: string, language: string): SyntaxRun[] | null {
  if (!hljs.getLanguage(language)) return null;
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  const runs: SyntaxRun[] = [];
  const kindStack: (SyntaxKind | null)[] = [null];
  // Highlight.js returns spans, and text in which only these characters are escaped.
  for (const piece of value.split(/(<span class="[^"]*">|<\/span>)/)) {
    if (piece === '</span>') kindStack.pop();
    else if (piece.startsWith('<span'))
      kindStack.push(KIND_BY_SCOPE.get(/hljs-([\w-]+)/.exec(piece)?.[1] ?? '') ?? kindStack.at(-1) ?? null);
    else
      appendRun(runs, piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity).length, kindStack.at(-1) ?? null);
  }
  return runs;
}

function appendRun(runs: SyntaxRun[], length: number, kind: SyntaxKind | null): void {
  const last = runs.at(-1);
  if (length === 0) return;
  if (last?.kind === kind) last.length += length;
  else runs.push({ length, kind });
}
