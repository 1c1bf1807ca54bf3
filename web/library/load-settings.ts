/** Parses settings from a file whose text `read` returns. Rejects with an Error that names the file and its problem. */
export async function loadSettings<T>(path: string, read: (path: string) => Promise<string>, parse: (text: string) => T): Promise<T> {
  const text = await read(path).catch((error: unknown) => {
    throw new Error(`Couldn’t read ${path}: ${toReason(error)}`, { cause: error });
  });
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${path}: ${toReason(error)}`, { cause: error });
  }
}

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
