/**
 * The seed of what tests draw by chance: that of `PERCH_SEED`; in the long run (`npm run test:long`) another each time, which looks for what nobody thought of; else always the
 * same, so that a change is judged by itself.
 */
export const SEED = Number(process.env['PERCH_SEED']) || (process.env['PERCH_LONG'] ? Math.trunc(Math.random() * 2 ** 31) : 1);
