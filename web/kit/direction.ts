/** Whether the page runs from right to left. */
export const isRtl = (): boolean => document.documentElement.dir === 'rtl';
