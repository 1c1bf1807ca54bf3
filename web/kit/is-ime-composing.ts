/**
 * Whether a key press belongs to an input method: `isComposing` says so, or the key code is 229, as in Safari for the key that ends a
 * composition.
 */
export const isImeComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean => isComposing || keyCode === 229;
