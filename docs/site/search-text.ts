/** The text of a section as search results show it: one line, without Markdown. */
export const toSearchText = (markdown: string): string =>
  markdown
    .replaceAll(/^ *```.*$|^ *\|(?: *:?-+:? *\|)+ *$/gm, '')
    .replaceAll(/^ *\| *| *\| *$/gm, '')
    .replaceAll(/ +\| +/g, ' · ')
    .replaceAll(/[`*]|^#+ /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
