// What other features import of this one.
export { getSourceTitle, groupTools } from './tool-catalog.ts';
export { toMatcher, withLine } from './tool-patterns.ts';
