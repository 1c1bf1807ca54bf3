export * from './canvas.ts';
