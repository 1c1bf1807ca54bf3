/** Whether the page runs from right to left. */
export const inRtl = (): boolean => document.documentElement.dir === 'rtl';
