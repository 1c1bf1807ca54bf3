import { config, z } from 'zod';

// Zod's compiled parsers need `new Function`, which every policy of ours forbids; without this each
// page and worker would report a violation on its first parse.
config({ jitless: true });

export { z };
