/** Maximum length of a file name in bytes, and of a workspace path in characters. */
const MAX_NAME_BYTES = 255;
const MAX_PATH_CHARS = 400;

const encoder = new TextEncoder();

/**
 * Name for the losing version of a file: `notes/a (conflict 2026-11-22 0930).md`, with a number from the second on. A name that would be
 * too long is shortened.
 */
export function toConflictName(path: string, { at, timeZone, count }: { at: number; timeZone: string; count: number }): string {
  const { folder, stem, ending } = splitPath(path);
  const tail = `${CONFLICT_MARK}${formatMinute(at, timeZone)}${count > 1 ? ` ${count}` : ''})${ending}`;
  const chars = Array.from(stem);
  const isTooLong = (): boolean => {
    const name = chars.join('') + tail;
    return folder.length + name.length > MAX_PATH_CHARS || encoder.encode(name).length > MAX_NAME_BYTES;
  };
  while (chars.length > 0 && isTooLong()) chars.pop();
  return folder + chars.join('') + tail;
}

/** Whether a path is named like a conflict copy. */
export const isConflictCopy = (path: string): boolean => path.includes(CONFLICT_MARK);

/** Whether `copy` is named like a conflict copy of `path`. */
export function isConflictCopyOf(copy: string, path: string): boolean {
  const { folder, stem, ending } = splitPath(path);
  return copy.startsWith(`${folder}${stem}${CONFLICT_MARK}`) && copy.endsWith(`)${ending}`);
}

const CONFLICT_MARK = ' (conflict ';

function splitPath(path: string): { folder: string; stem: string; ending: string } {
  const slash = path.lastIndexOf('/') + 1;
  const [, stem = '', ending = ''] = /^(.+?)(\.[^.]{1,20})?$/su.exec(path.slice(slash)) ?? [];
  return { folder: path.slice(0, slash), stem, ending };
}

/** `2026-11-22 0930` */
function formatMinute(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  });
  const { year, month, day, hour, minute } = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${year}-${month}-${day} ${hour}${minute}`;
}
