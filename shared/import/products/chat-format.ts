import type { ImportedChat } from '../imported-chat.ts';

/** A product's chat format. Each function returns null if the data is from another product. */
export interface ChatFormat {
  /** The product's name for display. */
  product: string;
  /** Chats of one JSON value: a whole file, or one element of its list. */
  fromValue?(value: unknown, path: string): ImportedChat[] | null;
  /** Chats of a file with one JSON value per line. */
  fromLines?(values: readonly unknown[], path: string): ImportedChat[] | null;
  /** Chats of a page, and the number of its entries that could not be read. */
  fromHtml?(html: string): { chats: ImportedChat[]; unrecognized: number } | null;
  /** Joins chats that the product splits into several files. */
  join?(chats: readonly ImportedChat[]): ImportedChat[];
}

/** Joins chats with the same ID: the first title, and the messages. For products that keep titles and messages in different files. */
export function joinById(chats: readonly ImportedChat[]): ImportedChat[] {
  const byId = Map.groupBy(chats, ({ id }) => id);
  return [...byId.values()].flatMap(([first, ...rest]) => {
    if (!first) return [];
    if (rest.length === 0) return [first];
    const all = [first, ...rest];
    return [
      {
        ...first,
        title: all.map(({ title }) => title).find((title) => title !== '') ?? '',
        pinned: all.some(({ pinned }) => pinned),
        archived: all.some(({ archived }) => archived),
        // The same file may have been chosen twice.
        messages: (all.find(({ messages }) => messages.length > 0) ?? first).messages,
        leftOut: all.flatMap(({ leftOut }) => leftOut),
      },
    ];
  });
}
