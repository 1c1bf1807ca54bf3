/** Maximum length of a file name in bytes, and of a workspace path in characters. */
const NAME_BYTES = 255;
const PATH_CHARS = 400;

const encoder = new TextEncoder();

/**
 * Name for the losing version of a file: `notes/a (conflict 2026-11-22 0930).md`, with a number from the second on. A name that would be
 * too long is shortened.
 */
export function conflictName(path: string, { at, timeZone, count }: { at: number; timeZone: string; count: number }): string {
  const { folder, stem, ending } = partsOf(path);
  const tail = `${MARK}${minuteOf(at, timeZone)}${count > 1 ? ` ${count}` : ''})${ending}`;
  const kept = Array.from(stem);
  const isTooLong = (): boolean => {
    const name = kept.join('') + tail;
    return folder.length + name.length > PATH_CHARS || encoder.encode(name).length > NAME_BYTES;
  };
  while (kept.length > 0 && isTooLong()) kept.pop();
  return folder + kept.join('') + tail;
}

/** Whether a path is named like a conflict copy. */
export const isConflict = (path: string): boolean => path.includes(MARK);

/** Whether `copy` is named like a conflict copy of `path`. */
export function isConflictOf(copy: string, path: string): boolean {
  const { folder, stem, ending } = partsOf(path);
  return copy.startsWith(`${folder}${stem}${MARK}`) && copy.endsWith(`)${ending}`);
}

const MARK = ' (conflict ';

function partsOf(path: string): { folder: string; stem: string; ending: string } {
  const slash = path.lastIndexOf('/') + 1;
  const [, stem = '', ending = ''] = /^(.+?)(\.[^.]{1,20})?$/su.exec(path.slice(slash)) ?? [];
  return { folder: path.slice(0, slash), stem, ending };
}

/** `2026-11-22 0930` */
function minuteOf(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  });
  const { year, month, day, hour, minute } = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${year}-${month}-${day} ${hour}${minute}`;
}
