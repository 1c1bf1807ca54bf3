import { Blocks, type CodeText } from '#lib/markdown/blocks.ts';

export type ArtifactKind = 'html' | 'svg';

/** Something that answers of a chat made, with what became of it (docs/decisions/0057). */
export interface Artifact {
  /** The same for all versions of it. */
  id: string;
  kind: ArtifactKind;
  /** A file name or title, if any was given. */
  name: string | null;
  /** Oldest first; never the same twice in a row. */
  versions: string[];
}

/** An answer's text; `growing`: its last block may still change. */
export interface AnswerText {
  text: string;
  growing: boolean;
}

const LANGUAGES = new Map<string, ArtifactKind>([
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['svg', 'svg'],
]);
const SVG = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype svg[^>]*>\s*)?<svg[\s>]/i;
const HTML = /^\s*(?:<!doctype html[\s>]|<html[\s>])/i;

/** Kind of artifact of a code block; null if none. Without a language, the code's start decides. */
export function artifactKind({ language, code }: Pick<CodeText, 'language' | 'code'>): ArtifactKind | null {
  const said = language.toLowerCase();
  if (SVG.test(code) && (said === '' || said === 'xml' || said === 'html')) return 'svg';
  return LANGUAGES.get(said) ?? (said === '' && HTML.test(code) ? 'html' : null);
}

const titleIn = (code: string): string | null => /<title[^>]*>([^<]{1,200})<\/title>/i.exec(code)?.[1]?.replace(/\s+/g, ' ').trim() || null;

/** Finds artifacts in the answers of one chat. Texts that it has read are not read again. */
export class ArtifactReader {
  #read = new Map<string, readonly CodeText[]>();

  /** In the order of their first versions. */
  artifacts(answers: readonly AnswerText[]): Artifact[] {
    const read = new Map<string, readonly CodeText[]>();
    const found = new Map<string, Artifact>();
    for (const { text, growing } of answers) {
      let blocks = this.#read.get(text);
      blocks ??= text.includes('```') || text.includes('~~~') ? codeIn(text, growing) : [];
      if (!growing) read.set(text, blocks);
      const nameless = new Map<ArtifactKind, number>();
      for (const block of blocks) {
        const kind = artifactKind(block);
        if (kind === null) continue;
        const name = block.name ?? titleIn(block.code);
        const nth = nameless.get(kind) ?? 0;
        if (name === null) nameless.set(kind, nth + 1);
        add(found, { id: `${kind} ${name ?? `#${nth}`}`, kind, name, versions: [block.code] });
      }
    }
    this.#read = read;
    return [...found.values()];
  }
}

function codeIn(text: string, growing: boolean): readonly CodeText[] {
  const blocks = new Blocks().update(text);
  return (growing ? blocks.slice(0, -1) : blocks).filter((block) => block.kind === 'code');
}

function add(found: Map<string, Artifact>, next: Artifact): void {
  const known = found.get(next.id);
  if (!known) found.set(next.id, next);
  else if (known.versions.at(-1) !== next.versions[0]) known.versions.push(...next.versions);
}
