import * as english from '#words/later/messages/en.js';
import { m as frame } from './frame.ts';
import { loadWords } from './load.ts';
import { locale } from './locale.ts';
import { words } from './words.ts';

// Other languages have these words with the frame's own.
if (locale !== 'en') await loadWords(true);

/** The words of what the chat loads later, and those of the frame. */
export const m = { ...words(english), ...frame };
