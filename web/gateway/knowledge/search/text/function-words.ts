/** English words that any text has. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be but by can did do does for from had has have how i if in is it its me my of on or s so t that the their there this to us was we were what when where which who will with you your'.split(
    ' ',
  ),
);
