/** Settings in a file that `read` gives the text of. Rejects with an Error that names the file, and what is wrong with it. */
export async function settingsAt<T>(path: string, read: (path: string) => Promise<string>, parse: (text: string) => T): Promise<T> {
  const text = await read(path).catch((error: unknown) => {
    throw new Error(`Couldn’t read ${path}: ${reasonOf(error)}`, { cause: error });
  });
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
