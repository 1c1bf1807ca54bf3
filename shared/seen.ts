/** Characters that change or isolate the order of text: in a name they would affect the words around it too. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text in its reading order, without characters that change it. */
export const inOrder = (text: string): string => text.replaceAll(TURNS, '');

/** A text without what turns the order of all that follows around, whatever its script: no language needs it, and with it words read as others. */
export const withoutOverrides = (text: string): string => text.replaceAll(/[\u202d\u202e]/g, '');

/** Whether a text has more than spaces and what takes no room at all. */
export const canBeSeen = (text: string): boolean => /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(text);

/** Error message for a name without visible characters. */
export const UNSEEN = 'must contain a visible character';

/** The name, or `other` if there is none or it has no visible characters. */
export const seenOr = <T>(name: string | undefined, other: T): string | T => (name !== undefined && canBeSeen(name) ? name : other);
