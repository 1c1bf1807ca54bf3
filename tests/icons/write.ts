import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawIcons, PUBLIC } from './draw.ts';

// `npm run icons`.
for (const [file, png] of await drawIcons()) writeFileSync(join(PUBLIC, file), png);
