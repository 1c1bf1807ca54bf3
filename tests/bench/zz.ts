import { benchCollections } from './collections/collections-bench.ts';
import { formatTable } from './figures.ts';
console.log(formatTable(await benchCollections({ quick: process.argv.includes('--quick') })));
