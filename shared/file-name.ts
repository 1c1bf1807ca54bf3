import { canBeSeen } from './seen.ts';

/** Controls, and what turns the direction of what follows: with it `gpj.exe` reads as `exe.jpg`. */
const MISLEADING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The name of a file that came from outside, as it is kept and shown: what would make it read otherwise is left out, and one that nobody sees is `file`. */
export function fileNameOf(name: string): string {
  const plain = name.replace(MISLEADING, '').toWellFormed();
  return canBeSeen(plain) ? plain : 'file';
}
