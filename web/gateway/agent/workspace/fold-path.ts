/**
 * Folds a path to the form under which some file system may treat it as the same file: ignores case, compatibility forms and invisible
 * characters, and, as on Windows, trailing dots and spaces of a name and stream names.
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

/** Whether a name may be a Windows short name (8.3) of a file with a longer name. */
export const isShortName = (path: string): boolean => /~\d+(\.|\/|$)/.test(path);
