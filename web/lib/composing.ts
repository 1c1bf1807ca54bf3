/** Whether a key press is an input method's own: it says so, or, as Safari has it for the key that ends a composition, tells no key. */
export const isComposed = ({ isComposing, keyCode }: KeyboardEvent): boolean => isComposing || keyCode === 229;
