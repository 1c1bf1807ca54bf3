/** Run after each test of every file (tests/setup.ts): a support module that many files share cannot register hooks for all of them itself. */
export const afterEachTest = new Set<() => void>();
