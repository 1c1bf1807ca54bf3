import { hasVisibleText } from './display-name.ts';

/** Control characters and bidirectional overrides, which make `gpj.exe` read as `exe.jpg`. */
const MISLEADING_CHARS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Maximum length of a name, in UTF-16 units. */
const MAX_CHARS = 255;
/** Maximum length of an extension such as `.tar.gz`. */
const MAX_EXTENSION_CHARS = 20;

/**
 * A safe form of an external file name: misleading characters are removed, an invisible name becomes `file`, and a long one is cut before
 * its extension.
 */
export function toSafeFileName(name: string): string {
  const plain = name.replace(MISLEADING_CHARS, '').toWellFormed();
  return hasVisibleText(plain) ? truncateName(plain) : 'file';
}

function truncateName(name: string): string {
  if (name.length <= MAX_CHARS) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= MAX_EXTENSION_CHARS ? name.slice(dot) : '';
  // Drops half of a surrogate pair.
  return `${name.slice(0, MAX_CHARS - 1 - ending.length).replace(/[\ud800-\udbff]$/, '')}…${ending}`;
}
