/** What turns the order of words around, or sets them apart: in a name it would do so with the words beside it, too. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text in the order in which it reads, whatever stands in it to turn that around. */
export const inOrder = (text: string): string => text.replaceAll(TURNS, '');

/** A text without what turns the order of all that follows around, whatever its script: no language needs it, and with it words read as others. */
export const withoutOverrides = (text: string): string => text.replaceAll(/[\u202d\u202e]/g, '');

/** Whether a text has more than spaces and what takes no room at all. */
export const canBeSeen = (text: string): boolean => /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(text);

/** What is wrong with a name that cannot be. */
export const UNSEEN = 'must contain a visible character';

/** A name, or what stands in its place where there is none or nobody would see it. */
export const seenOr = <T>(name: string | undefined, other: T): string | T => (name !== undefined && canBeSeen(name) ? name : other);
