import { foldPath, isShortName } from './fold-path.ts';
import { getScopeForPath } from './path-scope.ts';

/** Records of the wiki and of dreaming: lines of them are used without reading the file as a whole. */
const RECORDS = /(^|\/)\.(perch-wiki|dreams)(\/|$)/;
const INSTRUCTIONS = /^(skills|prompts)(\/|$)|^(memory|agents?|soul|user|identity|tools|heartbeat|bootstrap|claude)\.md$/;

/**
 * Whether later runs obey a file: instructions, prompts, skills and the long-term memory, in any spelling that a file system treats as the
 * same.
 */
export const isInstructionsPath = (path: string): boolean => INSTRUCTIONS.test(foldPath(path)) || isShortName(path);

/** Whether a file has records of the wiki or of dreaming, which no label of the file hides. */
export const isRecordsPath = (path: string): boolean => RECORDS.test(foldPath(path));

/** Whether a general permission to write files excludes a file: instructions, and files of the memory and the wiki. */
export const isProtectedPath = (path: string): boolean => isInstructionsPath(path) || getScopeForPath(path) !== 'files';
