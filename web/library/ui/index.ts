export * from './canvas.ts';
export * from '../../lib/icons/icons.ts';
