import { canBeSeen } from './seen.ts';

/** Controls, and what turns the direction of what follows: with it `gpj.exe` reads as `exe.jpg`. */
const MISLEADING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** UTF-16 units of a name. */
const MOST_CHARS = 255;
/** Of which an ending such as `.tar.gz` has so many. */
const MOST_OF_ENDING = 20;

/**
 * A safe form of an external file name: misleading characters are removed, an invisible name becomes `file`, and a long one is cut before
 * its extension.
 */
export function fileNameOf(name: string): string {
  const plain = name.replace(MISLEADING, '').toWellFormed();
  return canBeSeen(plain) ? cut(plain) : 'file';
}

function cut(name: string): string {
  if (name.length <= MOST_CHARS) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= MOST_OF_ENDING ? name.slice(dot) : '';
  // Drops half of a surrogate pair.
  return `${name.slice(0, MOST_CHARS - 1 - ending.length).replace(/[\ud800-\udbff]$/, '')}…${ending}`;
}
