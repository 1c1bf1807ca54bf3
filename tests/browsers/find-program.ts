import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Path of a program in the PATH; undefined if it is not installed. */
export const findProgram = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);

/** Path of the first executable file that matches a glob pattern. */
export const findExecutable = (pattern: string): string | undefined => globSync(pattern).find(isExecutable);
