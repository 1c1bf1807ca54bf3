import { foldPath, isShortName } from './fold-path.ts';
import { scopeForPath } from './path-scope.ts';

const INSTRUCTIONS = /^(skills|prompts)(\/|$)|^(memory|agents?|soul|user|identity|tools|heartbeat|bootstrap|claude)\.md$/;

/** True for files that later runs obey: instructions, prompts, skills and the long-term memory, in any spelling that a file system takes for the same. */
export const isInstructionsPath = (path: string): boolean => INSTRUCTIONS.test(foldPath(path)) || isShortName(path);

/** True for files that a general permission to write files does not cover: instructions, and files of the memory and the wiki. */
export const isProtectedPath = (path: string): boolean => isInstructionsPath(path) || scopeForPath(path) !== 'files';
