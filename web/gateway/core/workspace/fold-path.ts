/**
 * A path in the spelling that some file system takes for the same file: without case, compatibility forms and invisible characters, and, as on Windows, without dots
 * and spaces at the end of a name and without the name of a stream.
 */
export const foldPath = (path: string): string =>
  path
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .split(/[/\\]+/)
    .map((part) => part.replace(/:.*$/s, '').replace(/[. ]+$/, ''))
    .filter((part) => part !== '')
    .join('/');

/** Whether a name may be the short one that Windows gives to a file with a longer name. */
export const isShortName = (path: string): boolean => /~\d+(\.|\/|$)/.test(path);
