/** @file What help texts say of options that name a model. */

export const MODEL_HELP = `A model is a folder, a .gguf file, package:models/NAME, or a name on the Hugging Face Hub: OWNER/NAME[@REVISION], or
OWNER/NAME/FILE.gguf for one file, with hf:// before it where a folder here has that name. It is fetched once, into the cache of HF_HOME.`
