// The worker with a storage that fails: a row that holds the word POISON is written, and then the call throws.

import worker, { Database as Real } from '../../edge-worker/dist/index.js';

export class Database extends Real {
  constructor(ctx, env) {
    super(ctx, env);
    const { sql } = ctx.storage;
    const exec = (query, ...values) => {
      const cursor = sql.exec(query, ...values);
      const isPoison = values.some((value) => ArrayBuffer.isView(value) && new TextDecoder('latin1').decode(value).includes('POISON'));
      if (isPoison) throw new Error('the disk is full');
      return cursor;
    };
    const pass = (target, mine) =>
      new Proxy(target, {
        get(from, name) {
          if (name in mine) return mine[name];
          const value = from[name];
          return typeof value === 'function' ? value.bind(from) : value;
        },
      });
    const storage = pass(ctx.storage, { sql: pass(sql, { exec }) });
    Object.defineProperty(this, 'ctx', { value: pass(ctx, { storage }) });
  }
}

export default worker;
