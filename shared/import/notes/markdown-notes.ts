import type { NoteFormat } from './note-files.ts';

/** Obsidian, and any folder of Markdown: pages as they are. */
export const markdown: NoteFormat = {
  product: 'Markdown',
  detect: () => true,
  convert: (sources, pictures, tables) => ({
    pages: sources.map(({ path, text }) => ({ path, text })),
    pictures: [...pictures],
    leftOut: tables.map(({ path }) => path),
  }),
};
